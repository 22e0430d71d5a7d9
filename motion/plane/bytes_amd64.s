//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"
#include "light_amd64.h"

// Sixteen cells of a byte in a vector of SSE2, or thirty-two in one of AVX2.

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

// func onesWide(flags, mask, out []byte) (done int, any uint64)
TEXT ·onesWide(SB), NOSPLIT, $0-88
	MOVQ    flags_base+0(FP), SI
	MOVQ    flags_len+8(FP), CX
	MOVQ    mask_base+24(FP), R8
	MOVQ    out_base+48(FP), DI
	ANDQ    $~15, CX
	MOVQ    CX, done+72(FP)
	PXOR    X4, X4
	SPREADL($0x0101, X3)
	XORQ    BX, BX
	CMPB    ·hasAVX2(SB), $1
	JEQ     avx2

loop:
	CMPQ  BX, CX
	JGE   end
	MOVOU (SI)(BX*1), X0
	MOVOU (R8)(BX*1), X1
	PAND  X1, X0
	MOVO  X0, X1
	PSRLW $1, X1
	POR   X1, X0
	PAND  X3, X0
	POR   X0, X4
	MOVOU X0, (DI)(BX*1)
	ADDQ  $16, BX
	JMP   loop

end:
	PSHUFL $0xEE, X4, X0
	POR    X0, X4
	MOVQ   X4, any+80(FP)
	RET

avx2:
	VPBROADCASTW X3, Y3
	VPXOR        Y4, Y4, Y4
	MOVQ         CX, DX
	ANDQ         $~31, DX

loopy:
	CMPQ    BX, DX
	JGE     endy
	VMOVDQU (SI)(BX*1), Y0
	VPAND   (R8)(BX*1), Y0, Y0
	VPSRLW  $1, Y0, Y1
	VPOR    Y1, Y0, Y0
	VPAND   Y3, Y0, Y0
	VPOR    Y0, Y4, Y4
	VMOVDQU Y0, (DI)(BX*1)
	ADDQ    $32, BX
	JMP     loopy

endy:
	VEXTRACTI128 $1, Y4, X0
	VPOR         X0, X4, X4
	VZEROUPPER
	JMP          loop

// func despeckleWide(ones []byte, pitch int, solid []byte) (done, found int)
TEXT ·despeckleWide(SB), NOSPLIT, $0-72
	MOVQ    ones_base+0(FP), SI
	MOVQ    pitch+24(FP), R9
	MOVQ    solid_base+32(FP), DI
	MOVQ    solid_len+40(FP), CX
	LEAQ    (SI)(R9*1), R8     // the row itself
	LEAQ    (R8)(R9*1), R9     // the row below
	ANDQ    $~15, CX
	MOVQ    CX, done+56(FP)
	PXOR    X7, X7
	PXOR    X5, X5             // found, in two sums
	SPREADL($(0x0101*(const_SpeckleNeighbours-1)), X6)
	XORQ    BX, BX
	CMPB    ·hasAVX2(SB), $1
	JEQ     avx2

loop:
	CMPQ     BX, CX
	JGE      end
	MOVOU    1(R8)(BX*1), X0
	MOVO     X0, X1
	PCMPEQB  X7, X1
	PMOVMSKB X1, AX
	CMPL     AX, $0xffff
	JEQ      none

	// X1 becomes the sum of the 3x3 cells, at most 9.
	MOVOU    (SI)(BX*1), X1
	MOVOU    1(SI)(BX*1), X2
	MOVOU    2(SI)(BX*1), X3
	PADDB    X2, X1
	PADDB    X3, X1
	MOVOU    (R8)(BX*1), X2
	MOVOU    2(R8)(BX*1), X3
	PADDB    X0, X1
	PADDB    X2, X1
	PADDB    X3, X1
	MOVOU    (R9)(BX*1), X2
	MOVOU    1(R9)(BX*1), X3
	MOVOU    2(R9)(BX*1), X4
	PADDB    X2, X1
	PADDB    X3, X1
	PADDB    X4, X1
	PCMPGTB  X6, X1
	PAND     X1, X0
	MOVOU    X0, (DI)(BX*1)
	PSADBW   X7, X0
	PADDQ    X0, X5
	ADDQ     $16, BX
	JMP      loop

none:
	MOVOU X7, (DI)(BX*1)
	ADDQ  $16, BX
	JMP   loop

end:
	PSHUFL $0xEE, X5, X0
	PADDQ  X0, X5
	MOVQ   X5, found+64(FP)
	RET

avx2:
	VPBROADCASTW X6, Y6
	VPXOR        Y7, Y7, Y7
	VPXOR        Y5, Y5, Y5
	MOVQ         CX, DX
	ANDQ         $~31, DX

loopy:
	CMPQ     BX, DX
	JGE      endy
	VMOVDQU  1(R8)(BX*1), Y0
	VPTEST   Y0, Y0
	JEQ      noney
	VPADDB   (R8)(BX*1), Y0, Y1
	VPADDB   2(R8)(BX*1), Y1, Y1
	VMOVDQU  (SI)(BX*1), Y2
	VPADDB   1(SI)(BX*1), Y2, Y2
	VPADDB   2(SI)(BX*1), Y2, Y2
	VMOVDQU  (R9)(BX*1), Y3
	VPADDB   1(R9)(BX*1), Y3, Y3
	VPADDB   2(R9)(BX*1), Y3, Y3
	VPADDB   Y2, Y1, Y1
	VPADDB   Y3, Y1, Y1
	VPCMPGTB Y6, Y1, Y1
	VPAND    Y1, Y0, Y0
	VMOVDQU  Y0, (DI)(BX*1)
	VPSADBW  Y7, Y0, Y0
	VPADDQ   Y0, Y5, Y5
	ADDQ     $32, BX
	JMP      loopy

noney:
	VMOVDQU Y7, (DI)(BX*1)
	ADDQ    $32, BX
	JMP     loopy

endy:
	VEXTRACTI128 $1, Y5, X0
	VPADDQ       X0, X5, X5
	VZEROUPPER
	JMP          loop
