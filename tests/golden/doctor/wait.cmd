ridge doctor --wait 0
