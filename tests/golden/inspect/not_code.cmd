ridge inspect units.tsv
