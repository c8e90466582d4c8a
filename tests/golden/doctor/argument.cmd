ridge doctor here
