"""What is promised: budgets, guarantees, the ledger, randomness, noise, private selection.

Nothing here reads data. What leaves this room was paid for, and the payment was written down by the code that
added the noise.
"""
