ridge record --api some -- true
