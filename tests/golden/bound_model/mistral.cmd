ridge bound model models/mistral-7b.json --gpu l40s --tokens 16384
