//go:build arm64 && !purego

#include "textflag.h"

// Cells that lie apart from each other, two at a time.

// func pickWide(cells []uint16, at []int32, to []uint16) (done int)
TEXT ·pickWide(SB), NOSPLIT, $0-80
	MOVD cells_base+0(FP), R0
	MOVD at_base+24(FP), R1
	MOVD at_len+32(FP), R9
	MOVD to_base+48(FP), R2
	AND  $~1, R9
	MOVD R9, done+72(FP)
	CBZ  R9, end

loop:
	MOVWU.P 4(R1), R5
	MOVWU.P 4(R1), R6
	MOVHU   (R0)(R5<<1), R5
	MOVHU   (R0)(R6<<1), R6
	MOVH.P  R5, 2(R2)
	MOVH.P  R6, 2(R2)
	SUBS    $2, R9
	BNE     loop

end:
	RET

// func flaggedWide(flags []byte, at []int32, some byte, to []uint16) (done int)
TEXT ·flaggedWide(SB), NOSPLIT, $0-88
	MOVD  flags_base+0(FP), R0
	MOVD  at_base+24(FP), R1
	MOVD  at_len+32(FP), R9
	MOVBU some+48(FP), R4
	MOVD  to_base+56(FP), R2
	AND   $~1, R9
	MOVD  R9, done+80(FP)
	CBZ   R9, end

loop:
	MOVWU.P 4(R1), R5
	MOVWU.P 4(R1), R6
	MOVBU   (R0)(R5), R5
	MOVBU   (R0)(R6), R6
	TST     R4, R5
	CSETM   NE, R5
	TST     R4, R6
	CSETM   NE, R6
	MOVH.P  R5, 2(R2)
	MOVH.P  R6, 2(R2)
	SUBS    $2, R9
	BNE     loop

end:
	RET
