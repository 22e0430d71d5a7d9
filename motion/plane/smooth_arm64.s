//go:build arm64 && !purego

#include "textflag.h"
#include "neon_arm64.h"

// func smoothWide(to, a, b, c []uint16) (done int)
TEXT ·smoothWide(SB), NOSPLIT, $0-104
	MOVD to_base+0(FP), R0
	MOVD to_len+8(FP), R9
	MOVD a_base+24(FP), R1
	MOVD b_base+48(FP), R2
	MOVD c_base+72(FP), R3
	AND  $~7, R9
	MOVD R9, done+96(FP)
	CBZ  R9, end

loop:
	VLD1.P 16(R1), [V0.H8]
	VLD1.P 16(R2), [V1.H8]
	VLD1.P 16(R3), [V2.H8]
	UHADD(0, 0, 2)             // the bit that is lost changes nothing
	URHADD(0, 0, 1)
	VST1.P [V0.H8], 16(R0)
	SUBS   $8, R9
	BNE    loop

end:
	RET

// func shareWide(to, from []uint16, share uint16) (done int)
TEXT ·shareWide(SB), NOSPLIT, $0-64
	MOVD  to_base+0(FP), R0
	MOVD  to_len+8(FP), R9
	MOVD  from_base+24(FP), R1
	MOVHU share+48(FP), R10
	VDUP  R10, V7.H8
	AND   $~7, R9
	MOVD  R9, done+56(FP)
	CBZ   R9, end

loop:
	VLD1.P 16(R1), [V0.H8]
	UMULL(1, 0, 7)
	UMULL2(2, 0, 7)
	VUZP2  V2.H8, V1.H8, V0.H8
	VST1.P [V0.H8], 16(R0)
	SUBS   $8, R9
	BNE    loop

end:
	RET
