//go:build arm64 && !purego

#include "go_asm.h"
#include "textflag.h"
#include "neon_arm64.h"
#include "light_arm64.h"

// Loops over cells in another light: eight cells of 16 bits in a vector.

// func exposeWide(cells []uint16, gain, offset int32) (done int)
TEXT ·exposeWide(SB), NOSPLIT, $0-40
	LIGHT(gain+24(FP), offset+28(FP))
	MOVD cells_base+0(FP), R0
	MOVD cells_len+8(FP), R9
	AND  $~7, R9
	MOVD R9, done+32(FP)
	CBZ  R9, end

loop:
	VLD1   (R0), [V0.H8]
	APPLY
	VST1.P [V0.H8], 16(R0)
	SUBS   $8, R9
	BNE    loop

end:
	RET

// func classifyWide(now, before []uint16, gain, offset int32, background, noise []uint16, contrast int32, flags []byte) (done int)
TEXT ·classifyWide(SB), NOSPLIT, $0-144
	LIGHT(gain+48(FP), offset+52(FP))
	MOVW contrast+104(FP), R10
	VDUP R10, V29.H8
	MOVD $384, R10
	VDUP R10, V28.H8
	MOVD $2, R10
	VDUP R10, V27.H8
	MOVD $1, R10
	VDUP R10, V26.H8
	MOVD now_base+0(FP), R0
	MOVD now_len+8(FP), R9
	MOVD before_base+24(FP), R1
	MOVD background_base+56(FP), R2
	MOVD noise_base+80(FP), R3
	MOVD flags_base+112(FP), R4
	AND  $~7, R9
	MOVD R9, done+136(FP)
	CBZ  R9, end

loop:
	VLD1.P 16(R1), [V0.H8]
	APPLY
	VLD1.P 16(R0), [V3.H8]
	VLD1.P 16(R3), [V4.H8]
	VLD1.P 16(R2), [V5.H8]
	UQADD(4, 4, 4)
	UQADD(4, 4, 4)
	UQADD(4, 4, 28)
	UMAX(4, 4, 29)
	UABD(0, 0, 3)
	UABD(5, 5, 3)
	CMHI(0, 0, 4)
	CMHI(5, 5, 4)
	VAND   V27.B16, V0.B16, V0.B16
	VAND   V26.B16, V5.B16, V5.B16
	VORR   V5.B16, V0.B16, V0.B16
	XTNB(0, 0)
	VST1.P [V0.B8], 8(R4)
	SUBS   $8, R9
	BNE    loop

end:
	RET

// func sumWide(x, y []uint16, gain, offset, limit int32, m *Moments)
TEXT ·sumWide(SB), NOSPLIT, $0-72
	LIGHT(gain+48(FP), offset+52(FP))
	MOVW limit+56(FP), R10
	VDUP R10, V29.H8
	MOVD $256, R10
	VDUP R10, V28.H8
	MOVD $65024, R10
	VDUP R10, V27.H8
	MOVD x_base+0(FP), R0
	MOVD x_len+8(FP), R9
	MOVD y_base+24(FP), R1
	MOVD m+64(FP), R11
	VEOR V20.B16, V20.B16, V20.B16 // rest
	VEOR V21.B16, V21.B16, V21.B16 // points, as halves
	VEOR V22.B16, V22.B16, V22.B16 // x
	VEOR V23.B16, V23.B16, V23.B16 // y
	VEOR V24.B16, V24.B16, V24.B16 // x*x: 128 times two products of 12 bits by 12 bits stay below 1<<32
	VEOR V25.B16, V25.B16, V25.B16 // x*y
	CBZ  R9, end

loop:
	VLD1.P 16(R0), [V0.H8]
	VLD1.P 16(R1), [V3.H8]
	VUSHR  $4, V0.H8, V4.H8
	VUSHR  $4, V3.H8, V5.H8
	APPLY
	UABD(0, 0, 3)
	CMHS(1, 29, 0)
	CMHS(2, 3, 28)
	VAND   V2.B16, V1.B16, V1.B16
	CMHS(2, 27, 3)
	VAND   V2.B16, V1.B16, V1.B16 // -1 where the point counts
	VSUB   V1.H8, V21.H8, V21.H8
	VAND   V1.B16, V0.B16, V0.B16
	VAND   V1.B16, V4.B16, V4.B16
	VAND   V1.B16, V5.B16, V5.B16
	UADALPH(20, 0)
	UADALPH(22, 4)
	UADALPH(23, 5)
	UMLAL(24, 4, 4)
	UMLAL2(24, 4, 4)
	UMLAL(25, 4, 5)
	UMLAL2(25, 4, 5)
	SUBS   $8, R9
	BNE    loop

end:
	UADDLPH(21, 21)
	TOTAL(21, Moments_N)
	TOTAL(22, Moments_X)
	TOTAL(23, Moments_Y)
	TOTAL(24, Moments_XX)
	TOTAL(25, Moments_XY)
	TOTAL(20, Moments_Rest)
	RET

// func likeWide(x, y []uint16, pitch, rows int, l *Likeness)
TEXT ·likeWide(SB), NOSPLIT, $0-72
	MOVD x_base+0(FP), R0
	MOVD y_base+24(FP), R1
	MOVD pitch+48(FP), R2
	MOVD rows+56(FP), R9
	MOVD l+64(FP), R11
	LSL  $1, R2
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16
	VEOR V24.B16, V24.B16, V24.B16
	VEOR V25.B16, V25.B16, V25.B16

loop:
	VLD1  (R0), [V4.H8]
	VLD1  (R1), [V5.H8]
	ADD   R2, R0
	ADD   R2, R1
	VUSHR $4, V4.H8, V4.H8
	VUSHR $4, V5.H8, V5.H8
	UADALPH(21, 4)
	UADALPH(22, 5)
	UMLAL(23, 4, 4)
	UMLAL2(23, 4, 4)
	UMLAL(24, 5, 5)
	UMLAL2(24, 5, 5)
	UMLAL(25, 4, 5)
	UMLAL2(25, 4, 5)
	SUBS  $1, R9
	BNE   loop
	TOTAL(21, Likeness_X)
	TOTAL(22, Likeness_Y)
	TOTAL(23, Likeness_XX)
	TOTAL(24, Likeness_YY)
	TOTAL(25, Likeness_XY)
	RET
