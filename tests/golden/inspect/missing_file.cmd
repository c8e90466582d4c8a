ridge inspect no_such.cubin
