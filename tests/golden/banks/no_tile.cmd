ridge banks 
