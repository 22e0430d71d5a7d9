//go:build amd64 && !purego

#include "textflag.h"

// func stepsWide(x, y, skip, to []uint16) (done int)
TEXT ·stepsWide(SB), NOSPLIT, $0-104
	MOVQ    x_base+0(FP), SI
	MOVQ    x_len+8(FP), CX
	MOVQ    y_base+24(FP), R8
	MOVQ    skip_base+48(FP), R9
	MOVQ    to_base+72(FP), DI
	ANDQ    $~7, CX
	MOVQ    CX, done+96(FP)
	PCMPEQW X7, X7
	PSRLW   $8, X7             // 255 eight times
	PCMPEQW X6, X6
	PSRLW   $15, X6
	PSLLW   $8, X6             // 256 eight times
	XORQ    BX, BX

loop:
	CMPQ    BX, CX
	JGE     end
	MOVOU   (SI)(BX*2), X0
	MOVOU   (R8)(BX*2), X1
	MOVO    X0, X2
	MOVO    X1, X3
	PSRLW   $8, X0
	PSRLW   $8, X1
	PAND    X7, X2
	PAND    X7, X3
	PCMPGTW X3, X2             // -1 where the lower byte borrows
	PSUBW   X0, X1
	PADDW   X2, X1
	PADDW   X6, X1
	MOVOU   (R9)(BX*2), X0
	POR     X0, X1
	MOVOU   X1, (DI)(BX*2)
	ADDQ    $8, BX
	JMP     loop

end:
	RET

// func atMostWide(values, skip []uint16, limit uint16) (found int)
TEXT ·atMostWide(SB), NOSPLIT, $0-64
	MOVQ    values_base+0(FP), SI
	MOVQ    values_len+8(FP), CX
	MOVQ    skip_base+24(FP), R8
	MOVWLZX limit+48(FP), AX
	MOVL    AX, X6
	CMPB    ·hasAVX2(SB), $1
	JEQ     avx2
	PSHUFLW $0, X6, X6
	PSHUFL  $0, X6, X6
	PXOR    X7, X7
	PXOR    X4, X4             // found, in eight counts each
	PXOR    X5, X5
	XORQ    BX, BX

loop:
	CMPQ    BX, CX
	JGE     end
	MOVOU   (SI)(BX*2), X0
	MOVOU   16(SI)(BX*2), X1
	MOVOU   (R8)(BX*2), X2
	MOVOU   16(R8)(BX*2), X3
	POR     X2, X0
	POR     X3, X1
	PSUBUSW X6, X0
	PSUBUSW X6, X1
	PCMPEQW X7, X0
	PCMPEQW X7, X1
	PSUBW   X0, X4
	PSUBW   X1, X5
	ADDQ    $16, BX
	JMP     loop

avx2:
	VPBROADCASTW X6, Y6
	VPXOR        Y7, Y7, Y7
	VPXOR        Y4, Y4, Y4
	VPXOR        Y5, Y5, Y5
	XORQ         BX, BX
	SUBQ         $16, CX

loopy:
	CMPQ     BX, CX
	JGE      lasty
	VMOVDQU  (SI)(BX*2), Y0
	VMOVDQU  32(SI)(BX*2), Y1
	VPOR     (R8)(BX*2), Y0, Y0
	VPOR     32(R8)(BX*2), Y1, Y1
	VPSUBUSW Y6, Y0, Y0
	VPSUBUSW Y6, Y1, Y1
	VPCMPEQW Y7, Y0, Y0
	VPCMPEQW Y7, Y1, Y1
	VPSUBW   Y0, Y4, Y4
	VPSUBW   Y1, Y5, Y5
	ADDQ     $32, BX
	JMP      loopy

lasty:
	JNE      endy
	VMOVDQU  (SI)(BX*2), Y0
	VPOR     (R8)(BX*2), Y0, Y0
	VPSUBUSW Y6, Y0, Y0
	VPCMPEQW Y7, Y0, Y0
	VPSUBW   Y0, Y4, Y4

endy:
	VPADDW       Y5, Y4, Y4
	VEXTRACTI128 $1, Y4, X5
	VZEROUPPER

end:
	PADDW   X5, X4             // at most 8192 in each
	PCMPEQW X3, X3
	PSRLW   $15, X3
	PMADDWL X3, X4
	PSHUFL  $0x4E, X4, X5
	PADDL   X5, X4
	PSHUFL  $0xB1, X4, X5
	PADDL   X5, X4
	MOVL    X4, AX
	MOVQ    AX, found+56(FP)
	RET

// func withoutWide(to, from, skip []uint16) (done int)
TEXT ·withoutWide(SB), NOSPLIT, $0-80
	MOVQ to_base+0(FP), DI
	MOVQ to_len+8(FP), CX
	MOVQ from_base+24(FP), SI
	MOVQ skip_base+48(FP), R8
	ANDQ $~7, CX
	MOVQ CX, done+72(FP)
	XORQ BX, BX

loop:
	CMPQ  BX, CX
	JGE   end
	MOVOU (SI)(BX*2), X0
	MOVOU (R8)(BX*2), X1
	PANDN X0, X1
	MOVOU X1, (DI)(BX*2)
	ADDQ  $8, BX
	JMP   loop

end:
	RET
