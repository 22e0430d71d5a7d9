//go:build amd64 && !purego

#include "textflag.h"

// Cells that lie apart from each other, four at a time: no vector fetches them faster.

// One cell of Pick: number k of those at SI.
#define PICK(k, r) \
	MOVL    (4*k)(SI)(BX*4), r \
	MOVWLZX (R8)(r*2), r       \
	MOVW    r, (2*k)(DI)(BX*2)

// func pickWide(cells []uint16, at []int32, to []uint16) (done int)
TEXT ·pickWide(SB), NOSPLIT, $0-80
	MOVQ cells_base+0(FP), R8
	MOVQ at_base+24(FP), SI
	MOVQ at_len+32(FP), CX
	MOVQ to_base+48(FP), DI
	ANDQ $~3, CX
	MOVQ CX, done+72(FP)
	XORQ BX, BX
	JMP  test

loop:
	PICK(0, AX)
	PICK(1, DX)
	PICK(2, R9)
	PICK(3, R10)
	ADDQ $4, BX

test:
	CMPQ BX, CX
	JLT  loop
	RET

// One cell of Flagged: -1 if it has one of the flags, by the borrow of 0 - flags.
#define FLAGGED(k, r) \
	MOVL    (4*k)(SI)(BX*4), r \
	MOVBLZX (R8)(r*1), r       \
	ANDL    R11, r             \
	NEGL    r                  \
	SBBL    r, r               \
	MOVW    r, (2*k)(DI)(BX*2)

// func flaggedWide(flags []byte, at []int32, some byte, to []uint16) (done int)
TEXT ·flaggedWide(SB), NOSPLIT, $0-88
	MOVQ    flags_base+0(FP), R8
	MOVQ    at_base+24(FP), SI
	MOVQ    at_len+32(FP), CX
	MOVBLZX some+48(FP), R11
	MOVQ    to_base+56(FP), DI
	ANDQ    $~3, CX
	MOVQ    CX, done+80(FP)
	XORQ    BX, BX
	JMP     test

loop:
	FLAGGED(0, AX)
	FLAGGED(1, DX)
	FLAGGED(2, R9)
	FLAGGED(3, R10)
	ADDQ $4, BX

test:
	CMPQ BX, CX
	JLT  loop
	RET
