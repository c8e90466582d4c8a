ridge=$(command -v ridge) && PATH=/nonexistent "$ridge" profile -- true
