"""The truth about baskets: exact patterns, relations and metrics. Nothing here is private.

`mine` is the public function; `search` finds all itemsets above a count. A private mechanism asks instead: a question
is a value of `query` (how many hold these itemsets, how long are baskets, which cells has this basis), and an `engine`
answers it. Each query states its sensitivity, that is by how much one person moves its answer. The meter adds noise by
that number alone, so what has to be proved about a query is proved here, beside its definition.

An engine keeps what it made of the rows for the next question (`rows`). `relations` are ordered pairs of items;
`metrics` compares a result with the truth; `bounds` says how many itemsets there can be.
"""
