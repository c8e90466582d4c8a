ridge check
