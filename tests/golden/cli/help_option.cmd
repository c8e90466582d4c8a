ridge --help | head -n 1
