"""A study, live: a service asks a protocol's questions over the network, and devices answer them.

What is decided is apart from how it is stored and sent. `study_file` reads what an operator wrote; `states` is the
table of what may follow what; `documents` and `uploads` are what travels; `core` goes from stored rounds to the next
ones and from reports to an estimate, without any input or output.
"""
