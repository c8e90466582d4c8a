ridge record --delay -1 -- true
