//go:build amd64 && !purego

#include "textflag.h"
#include "light_amd64.h"

// func smoothWide(to, a, b, c []uint16) (done int)
TEXT ·smoothWide(SB), NOSPLIT, $0-104
	MOVQ    to_base+0(FP), DI
	MOVQ    to_len+8(FP), CX
	MOVQ    a_base+24(FP), SI
	MOVQ    b_base+48(FP), R8
	MOVQ    c_base+72(FP), R9
	XORQ    BX, BX
	CMPB    ·hasAVX2(SB), $1
	JEQ     avx2
	ANDQ    $~7, CX
	MOVQ    CX, done+96(FP)
	PCMPEQW X7, X7
	PSRLW   $15, X7

loop:
	CMPQ  BX, CX
	JGE   end
	MOVOU (SI)(BX*2), X0
	MOVOU (R9)(BX*2), X1
	MOVOU (R8)(BX*2), X2
	MOVO  X0, X3               // half of a + c rounded down, then half of that and b rounded up: the bit that was lost changes nothing
	PXOR  X1, X3
	PAND  X7, X3
	PAVGW X1, X0
	PSUBW X3, X0
	PAVGW X2, X0
	MOVOU X0, (DI)(BX*2)
	ADDQ  $8, BX
	JMP   loop

end:
	RET

avx2:
	ANDQ     $~15, CX
	MOVQ     CX, done+96(FP)
	VPCMPEQW Y7, Y7, Y7
	VPSRLW   $15, Y7, Y7

loopy:
	CMPQ    BX, CX
	JGE     endy
	VMOVDQU (SI)(BX*2), Y0
	VMOVDQU (R9)(BX*2), Y1
	VPXOR   Y1, Y0, Y3
	VPAND   Y7, Y3, Y3
	VPAVGW  Y1, Y0, Y0
	VPSUBW  Y3, Y0, Y0
	VPAVGW  (R8)(BX*2), Y0, Y0
	VMOVDQU Y0, (DI)(BX*2)
	ADDQ    $16, BX
	JMP     loopy

endy:
	VZEROUPPER
	RET

// func shareWide(to, from []uint16, share uint16) (done int)
TEXT ·shareWide(SB), NOSPLIT, $0-64
	MOVQ    to_base+0(FP), DI
	MOVQ    to_len+8(FP), CX
	MOVQ    from_base+24(FP), SI
	MOVWLZX share+48(FP), AX
	MOVL    AX, X7
	PSHUFLW $0, X7, X7
	PSHUFL  $0, X7, X7
	ANDQ    $~15, CX
	MOVQ    CX, done+56(FP)
	XORQ    BX, BX

loop:
	CMPQ    BX, CX
	JGE     end
	MOVOU   (SI)(BX*2), X0
	MOVOU   16(SI)(BX*2), X1
	PMULHUW X7, X0
	PMULHUW X7, X1
	MOVOU   X0, (DI)(BX*2)
	MOVOU   X1, 16(DI)(BX*2)
	ADDQ    $16, BX
	JMP     loop

end:
	RET
