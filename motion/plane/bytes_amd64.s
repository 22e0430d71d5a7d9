//go:build amd64 && !purego

#include "textflag.h"

// Sixteen cells of a byte in a vector of SSE2.

// x = the byte v sixteen times; AX is lost.
#define SPREADB(v, x) \
	MOVBLZX v, AX        \
	IMULL   $0x0101, AX  \
	MOVL    AX, x        \
	PSHUFLW $0, x, x     \
	PSHUFL  $0, x, x

// func wearWide(memory, flags, passing []byte, up, down uint8) (done int)
TEXT ·wearWide(SB), NOSPLIT, $0-88
	MOVQ    memory_base+0(FP), DI
	MOVQ    memory_len+8(FP), CX
	MOVQ    flags_base+24(FP), SI
	MOVQ    passing_base+48(FP), R8
	SPREADB(up+72(FP), X6)
	SPREADB(down+73(FP), X5)
	ANDQ    $~15, CX
	MOVQ    CX, done+80(FP)
	PXOR    X7, X7
	XORQ    BX, BX

loop:
	CMPQ    BX, CX
	JGE     end
	MOVOU   (DI)(BX*1), X0
	MOVOU   (SI)(BX*1), X1
	MOVOU   (R8)(BX*1), X2
	PSLLW   $6, X1             // only the highest bit of each byte counts
	MOVO    X7, X3
	PCMPGTB X1, X3             // -1 where it moved
	PCMPEQB X7, X2             // -1 where nothing passes
	PAND    X3, X2
	PAND    X6, X2             // what is added
	PANDN   X5, X3             // what is taken away
	PADDUSB X2, X0
	PSUBUSB X3, X0
	MOVOU   X0, (DI)(BX*1)
	ADDQ    $16, BX
	JMP     loop

end:
	RET

// func keepWide(held, solid, memory []byte, least uint8) (done int)
TEXT ·keepWide(SB), NOSPLIT, $0-88
	MOVQ    held_base+0(FP), DI
	MOVQ    held_len+8(FP), CX
	MOVQ    solid_base+24(FP), SI
	MOVQ    memory_base+48(FP), R8
	SPREADB(least+72(FP), X6)
	ANDQ    $~15, CX
	MOVQ    CX, done+80(FP)
	PXOR    X7, X7
	XORQ    BX, BX

loop:
	CMPQ    BX, CX
	JGE     end
	MOVO    X6, X0
	MOVOU   (R8)(BX*1), X1
	PSUBUSB X1, X0             // not 0 where less is remembered
	PCMPEQB X7, X0
	MOVOU   (SI)(BX*1), X1
	PCMPEQB X7, X1
	POR     X1, X0
	MOVOU   (DI)(BX*1), X1
	PANDN   X1, X0
	MOVOU   X0, (DI)(BX*1)
	ADDQ    $16, BX
	JMP     loop

end:
	RET
