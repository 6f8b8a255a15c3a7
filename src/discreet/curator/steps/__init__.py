"""What mechanisms share: steps of a computation over released numbers and the meter. Nothing here is listed by name.

`universe` counts and draws itemsets over a public list. `itemset_choice` chooses among all of them (`exponential`,
`laplace`), `candidate_join` makes longer candidates of shorter ones, `threshold_levels` walks length by length.
`truncation` cuts long baskets, `clipped_counting` scales them down instead. `basis_selection`, `basis_cover` and
`cell_estimates` are the three parts of counting by bases: which items, which bases, which counts.
"""
