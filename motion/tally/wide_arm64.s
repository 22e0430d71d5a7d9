//go:build arm64 && !purego

#include "textflag.h"

// Instructions of NEON that Go's assembler does not know (Arm Architecture Reference Manual, C7.2); d, n and m are numbers of registers, in the order of the manual.
#define CMHI(d, n, m)   WORD $(0x6e603400 | m<<16 | n<<5 | d) // d.8h = -1 where n.8h > m.8h, else 0
#define CMHS(d, n, m)   WORD $(0x6e603c00 | m<<16 | n<<5 | d) // d.8h = -1 where n.8h >= m.8h, else 0

#define BIC(d, n, m)    WORD $(0x4e601c00 | m<<16 | n<<5 | d) // d = n &^ m

// func stepsWide(x, y, skip, to []uint16) (done int)
TEXT ·stepsWide(SB), NOSPLIT, $0-104
	MOVD x_base+0(FP), R0
	MOVD x_len+8(FP), R9
	MOVD y_base+24(FP), R1
	MOVD skip_base+48(FP), R2
	MOVD to_base+72(FP), R3
	AND  $~7, R9
	MOVD R9, done+96(FP)
	MOVD $255, R10
	VDUP R10, V7.H8
	MOVD $256, R10
	VDUP R10, V6.H8
	CBZ  R9, end

loop:
	VLD1.P 16(R0), [V0.H8]
	VLD1.P 16(R1), [V1.H8]
	VLD1.P 16(R2), [V4.H8]
	VAND   V7.B16, V0.B16, V2.B16
	VAND   V7.B16, V1.B16, V3.B16
	VUSHR  $8, V0.H8, V0.H8
	VUSHR  $8, V1.H8, V1.H8
	CMHI(2, 2, 3)              // -1 where the lower byte borrows
	VSUB   V0.H8, V1.H8, V1.H8
	VADD   V2.H8, V1.H8, V1.H8
	VADD   V6.H8, V1.H8, V1.H8
	VORR   V4.B16, V1.B16, V1.B16
	VST1.P [V1.H8], 16(R3)
	SUBS   $8, R9
	BNE    loop

end:
	RET

// func atMostWide(values, skip []uint16, limit uint16) (found int)
TEXT ·atMostWide(SB), NOSPLIT, $0-64
	MOVD  values_base+0(FP), R0
	MOVD  values_len+8(FP), R9
	MOVD  skip_base+24(FP), R1
	MOVHU limit+48(FP), R10
	VDUP  R10, V6.H8
	VEOR  V4.B16, V4.B16, V4.B16
	VEOR  V5.B16, V5.B16, V5.B16
	MOVD  ZR, R11
	CBZ   R9, end

loop:
	VLD1.P 32(R0), [V0.H8, V1.H8]
	VLD1.P 32(R1), [V2.H8, V3.H8]
	VORR   V2.B16, V0.B16, V0.B16
	VORR   V3.B16, V1.B16, V1.B16
	CMHS(0, 6, 0)
	CMHS(1, 6, 1)
	VSUB   V0.H8, V4.H8, V4.H8
	VSUB   V1.H8, V5.H8, V5.H8
	SUBS   $16, R9
	BNE    loop
	VADD   V5.H8, V4.H8, V4.H8
	VUADDLV V4.H8, V4
	VMOV   V4.S[0], R11

end:
	MOVD R11, found+56(FP)
	RET

// func withoutWide(to, from, skip []uint16) (done int)
TEXT ·withoutWide(SB), NOSPLIT, $0-80
	MOVD to_base+0(FP), R0
	MOVD to_len+8(FP), R9
	MOVD from_base+24(FP), R1
	MOVD skip_base+48(FP), R2
	AND  $~7, R9
	MOVD R9, done+72(FP)
	CBZ  R9, end

loop:
	VLD1.P 16(R1), [V0.H8]
	VLD1.P 16(R2), [V1.H8]
	BIC(0, 0, 1)
	VST1.P [V0.H8], 16(R0)
	SUBS   $8, R9
	BNE    loop

end:
	RET
