ridge record
