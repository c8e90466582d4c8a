ridge banks 16x16:bf16 ld.4 "lane / 4, lane % 4 * 2" lanes=0xffff ldmatrix.x2 --picture
