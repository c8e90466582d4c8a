ridge=$(command -v ridge) && PATH=/nonexistent "$ridge" check probe:copy --device cpu --sanitizer --case bytes=4Ki
