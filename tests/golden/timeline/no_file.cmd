ridge timeline 
