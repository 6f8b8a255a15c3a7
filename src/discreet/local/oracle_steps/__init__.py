"""What oracles share: hashing, unary and subset encodings, reading reports, and which oracle suits a question."""
