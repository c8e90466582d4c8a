ridge bound copy elements=64Mi dtype=f32
