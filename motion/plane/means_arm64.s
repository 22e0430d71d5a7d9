//go:build arm64 && !purego

#include "textflag.h"
#include "neon_arm64.h"

// Loops that read pixels.

// func widenWide(row []byte, out []uint16) (done int)
TEXT ·widenWide(SB), NOSPLIT, $0-56
	MOVD row_base+0(FP), R0
	MOVD out_base+24(FP), R1
	MOVD out_len+32(FP), R9
	AND  $~7, R9
	MOVD R9, done+48(FP)
	CBZ  R9, end

loop:
	VLD1.P 8(R0), [V0.B8]
	VUXTL  V0.B8, V0.H8
	VSHL   $8, V0.H8, V0.H8
	VST1.P [V0.H8], 16(R1)
	SUBS   $8, R9
	BNE    loop

end:
	RET

// func meansTwoWide(luma []byte, stride, width, height int, cells []uint16) (done int)
TEXT ·meansTwoWide(SB), NOSPLIT, $0-80
	MOVD luma_base+0(FP), R0
	MOVD stride+24(FP), R3
	MOVD width+32(FP), R4
	MOVD height+40(FP), R5
	MOVD cells_base+48(FP), R2
	MOVD R5, done+72(FP)
	SUB  R4, R3, R6
	LSL  $1, R6, R6            // from the end of a row of cells to the next
	CBZ  R5, end

row:
	ADD R3, R0, R1
	SUB $8, R4, R9

loop:
	VLD1.P 16(R0), [V0.B16]
	VLD1.P 16(R1), [V1.B16]
	UADDLPB(0, 0)
	UADALPB(0, 1)
	VSHL   $6, V0.H8, V0.H8
	VST1.P [V0.H8], 16(R2)
	SUBS   $8, R9
	BGE    loop
	ADD    $8, R9
	CBZ    R9, next

	// The last eight cells, of which some are done already: so many bytes back.
	LSL    $1, R9, R10
	SUB    $16, R10, R10
	ADD    R10, R0
	ADD    R10, R1
	ADD    R10, R2
	MOVD   $0, R9
	B      loop

next:
	ADD  R6, R0
	SUBS $1, R5
	BNE  row

end:
	RET

// func meansFourWide(luma []byte, stride int, out []uint16) (done int)
TEXT ·meansFourWide(SB), NOSPLIT, $0-64
	MOVD luma_base+0(FP), R0
	MOVD stride+24(FP), R3
	MOVD out_base+32(FP), R2
	MOVD out_len+40(FP), R9
	AND  $~3, R9
	MOVD R9, done+56(FP)
	CBZ  R9, end
	ADD  R3, R0, R4
	ADD  R3, R4, R5
	ADD  R3, R5, R6

loop:
	VLD1.P 16(R0), [V0.B16]
	VLD1.P 16(R4), [V1.B16]
	VLD1.P 16(R5), [V2.B16]
	VLD1.P 16(R6), [V3.B16]
	UADDLPB(0, 0)
	UADALPB(0, 1)
	UADALPB(0, 2)
	UADALPB(0, 3)
	UADDLPH(0, 0)
	VSHL   $4, V0.S4, V0.S4
	XTNH(0, 0)
	VST1.P [V0.H4], 8(R2)
	SUBS   $4, R9
	BNE    loop

end:
	RET

// func sumColumnsWide(luma []byte, stride, rows int, sums []uint16) (done int)
TEXT ·sumColumnsWide(SB), NOSPLIT, $0-72
	MOVD luma_base+0(FP), R0
	MOVD stride+24(FP), R1
	MOVD rows+32(FP), R2
	MOVD sums_base+40(FP), R3
	MOVD sums_len+48(FP), R9
	AND  $~15, R9
	MOVD R9, done+64(FP)
	CBZ  R9, end

column:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	MOVD R0, R4
	MOVD R2, R5

row:
	VLD1    (R4), [V2.B16]
	VUADDW  V2.B8, V0.H8, V0.H8
	VUADDW2 V2.B16, V1.H8, V1.H8
	ADD     R1, R4
	SUBS    $1, R5
	BNE     row
	VST1.P  [V0.H8, V1.H8], 32(R3)
	ADD     $16, R0
	SUBS    $16, R9
	BNE     column

end:
	RET
