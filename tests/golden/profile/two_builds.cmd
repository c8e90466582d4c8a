ridge profile --step 1 --build 3f21 -- true
