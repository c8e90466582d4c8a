ridge bound attention
