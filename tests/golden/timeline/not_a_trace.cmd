ridge timeline timeline/README.md
