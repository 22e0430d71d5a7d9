//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// Two points at a time, with AVX2: SSE2 has no products of signed values of 32 bits.

// Adds both halves of y, whose lower half is x, to field. X0 is lost.
#define BOTH(add, y, x, field) \
	VEXTRACTI128 $1, y, X0     \
	add          X0, x, x      \
	add          field(DI), x, x \
	VMOVDQU      x, field(DI)

// func slopesWide(points []Point, s *Slopes) (done int)
TEXT ·slopesWide(SB), NOSPLIT, $0-40
	MOVQ points_base+0(FP), SI
	MOVQ points_len+8(FP), CX
	MOVQ s+24(FP), DI
	XORQ AX, AX
	CMPB ·hasAVX2(SB), $1
	JNE  none
	MOVQ CX, AX
	ANDQ $~1, AX

none:
	MOVQ  AX, done+32(FP)
	TESTQ AX, AX
	JZ    end
	VPXOR Y8, Y8, Y8
	VPXOR Y9, Y9, Y9
	VPXOR Y10, Y10, Y10
	VPXOR Y11, Y11, Y11
	VPXOR Y12, Y12, Y12

loop:
	VMOVDQU (SI), Y0           // R, Size, X, Y
	VPADDD  Y0, Y8, Y8
	VPABSD  Y0, Y1
	VPADDD  Y1, Y9, Y9         // Rest, and what is not needed
	VPMULDQ Y0, Y0, Y1
	VPADDQ  Y1, Y10, Y10       // RR, XX
	VPSHUFD $0x00, Y0, Y1
	VPSHUFD $0xFA, Y0, Y2
	VPSHUFD $0xFF, Y0, Y3
	VPMULDQ Y2, Y1, Y1
	VPADDQ  Y1, Y11, Y11       // XR, YR
	VPMULDQ Y2, Y3, Y3
	VPADDQ  Y3, Y12, Y12       // XY, YY
	ADDQ    $32, SI
	SUBQ    $2, AX
	JNZ     loop
	BOTH(VPADDD, Y8, X8, Slopes_R)
	BOTH(VPADDQ, Y10, X10, Slopes_RR)
	BOTH(VPADDQ, Y11, X11, Slopes_XR)
	BOTH(VPADDQ, Y12, X12, Slopes_XY)
	VEXTRACTI128 $1, Y9, X0
	VPADDD       X0, X9, X9
	VMOVD        X9, AX
	ADDL         AX, Slopes_Rest(DI)
	VZEROUPPER

end:
	RET
