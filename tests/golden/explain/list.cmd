ridge explain
