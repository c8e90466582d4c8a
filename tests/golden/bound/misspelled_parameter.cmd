ridge bound attention querys=1
