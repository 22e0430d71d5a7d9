//go:build amd64 && !purego

#include "textflag.h"

// Thirty-two cells of a byte of two rows, which are sixteen tiles, in two vectors of SSE2 or one of AVX2.

// func tilesWide(solid, parked []byte, width, rows int, set, stands []uint64) (done int)
TEXT ·tilesWide(SB), NOSPLIT, $0-120
	MOVQ solid_base+0(FP), SI
	MOVQ parked_base+24(FP), DX
	MOVQ width+48(FP), R10
	MOVQ rows+56(FP), CX
	MOVQ set_base+64(FP), DI
	MOVQ stands_base+88(FP), R9
	MOVQ CX, done+112(FP)
	LEAQ 31(R10), R13
	ANDQ $~31, R13             // cells of a row, and those that fill the last vector
	LEAQ 127(R10), R8
	SHRQ $7, R8
	SHLQ $3, R8                // bytes of the bits of a row
	PXOR X7, X7
	CMPB ·hasAVX2(SB), $1
	JEQ  avx2

row:
	DECQ CX
	JLT  end
	LEAQ (SI)(R10*1), R11
	LEAQ (DX)(R10*1), R12
	XORQ BX, BX
	XORQ R14, R14

loop:
	MOVOU    (SI)(BX*1), X0
	MOVOU    16(SI)(BX*1), X1
	MOVOU    (R11)(BX*1), X2
	MOVOU    16(R11)(BX*1), X3
	POR      X2, X0
	POR      X3, X1
	MOVOU    (DX)(BX*1), X2
	MOVOU    16(DX)(BX*1), X3
	MOVOU    (R12)(BX*1), X4
	MOVOU    16(R12)(BX*1), X5
	POR      X4, X2
	POR      X5, X3
	POR      X2, X0
	POR      X3, X1
	PCMPEQW  X7, X0
	PCMPEQW  X7, X1
	PCMPEQW  X7, X2
	PCMPEQW  X7, X3
	PACKSSWB X1, X0
	PACKSSWB X3, X2
	PMOVMSKB X0, AX
	NOTL     AX
	MOVW     AX, (DI)(R14*1)
	PMOVMSKB X2, AX
	NOTL     AX
	MOVW     AX, (R9)(R14*1)
	ADDQ     $2, R14
	ADDQ     $32, BX
	CMPQ     BX, R13
	JLT      loop
	LEAQ     (SI)(R10*2), SI
	LEAQ     (DX)(R10*2), DX
	ADDQ     R8, DI
	ADDQ     R8, R9
	JMP      row

end:
	RET

avx2:
	VPXOR Y7, Y7, Y7

rowy:
	DECQ CX
	JLT  endy
	LEAQ (SI)(R10*1), R11
	LEAQ (DX)(R10*1), R12
	XORQ BX, BX
	XORQ R14, R14

loopy:
	VMOVDQU   (SI)(BX*1), Y0
	VPOR      (R11)(BX*1), Y0, Y0
	VMOVDQU   (DX)(BX*1), Y1
	VPOR      (R12)(BX*1), Y1, Y1
	VPOR      Y1, Y0, Y0
	VPCMPEQW  Y7, Y0, Y0
	VPCMPEQW  Y7, Y1, Y1
	VPACKSSWB Y1, Y0, Y0
	VPERMQ    $0xD8, Y0, Y0    // sixteen tiles of set, then as many of stands
	VPMOVMSKB Y0, AX
	NOTL      AX
	MOVW      AX, (DI)(R14*1)
	SHRL      $16, AX
	MOVW      AX, (R9)(R14*1)
	ADDQ      $2, R14
	ADDQ      $32, BX
	CMPQ      BX, R13
	JLT       loopy
	LEAQ      (SI)(R10*2), SI
	LEAQ      (DX)(R10*2), DX
	ADDQ      R8, DI
	ADDQ      R8, R9
	JMP       rowy

endy:
	VZEROUPPER
	RET
