//go:build arm64 && !purego

#include "textflag.h"
#include "neon_arm64.h"

// Loops over the cells of blocks of eight columns: sixteen cells of a byte in a vector.

// func flagsWide(flags []byte, pitch, rows int, blocks []Block) (done int)
TEXT ·flagsWide(SB), NOSPLIT, $0-72
	MOVD flags_base+0(FP), R0
	MOVD pitch+24(FP), R3
	MOVD rows+32(FP), R4
	MOVD blocks_base+40(FP), R2
	MOVD blocks_len+48(FP), R9
	AND  $~1, R9
	MOVD R9, done+64(FP)
	MOVD $1, R10
	VDUP R10, V6.B16
	CBZ  R9, end

block:
	VEOR V0.B16, V0.B16, V0.B16 // with the flag Fore
	VEOR V1.B16, V1.B16, V1.B16 // with the flag Moved
	MOVD R0, R5
	MOVD R4, R6

row:
	VLD1  (R5), [V4.B16]
	VUSHR $1, V4.B16, V5.B16
	VAND  V6.B16, V4.B16, V4.B16
	VAND  V6.B16, V5.B16, V5.B16
	VADD  V4.B16, V0.B16, V0.B16
	VADD  V5.B16, V1.B16, V1.B16
	ADD   R3, R5
	SUBS  $1, R6
	BNE   row
	EIGHTS(0)
	EIGHTS(1)
	VSHL   $16, V1.D2, V1.D2
	VORR   V1.B16, V0.B16, V0.B16
	VST1.P [V0.B16], 16(R2)
	ADD    $16, R0
	SUBS   $2, R9
	BNE    block

end:
	RET

// func solidWide(flags, solid []byte, pitch, rows int, blocks []Block) (done int)
TEXT ·solidWide(SB), NOSPLIT, $0-96
	MOVD flags_base+0(FP), R0
	MOVD solid_base+24(FP), R1
	MOVD pitch+48(FP), R3
	MOVD rows+56(FP), R4
	MOVD blocks_base+64(FP), R2
	MOVD blocks_len+72(FP), R9
	AND  $~1, R9
	MOVD R9, done+88(FP)
	MOVD $1, R10
	VDUP R10, V6.B16
	CBZ  R9, end

block:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16 // solid
	VEOR V3.B16, V3.B16, V3.B16 // solid with the flag Moved
	MOVD R0, R5
	MOVD R1, R7
	MOVD R4, R6

row:
	VLD1  (R5), [V4.B16]
	VLD1  (R7), [V7.B16]
	VUSHR $1, V4.B16, V5.B16
	VAND  V7.B16, V4.B16, V4.B16
	VAND  V6.B16, V5.B16, V5.B16
	VADD  V4.B16, V0.B16, V0.B16
	VADD  V5.B16, V1.B16, V1.B16
	VADD  V7.B16, V2.B16, V2.B16
	VAND  V7.B16, V5.B16, V5.B16
	VADD  V5.B16, V3.B16, V3.B16
	ADD   R3, R5
	ADD   R3, R7
	SUBS  $1, R6
	BNE   row
	EIGHTS(0)
	EIGHTS(1)
	EIGHTS(2)
	EIGHTS(3)
	VSHL   $16, V1.D2, V1.D2
	VSHL   $32, V2.D2, V2.D2
	VSHL   $48, V3.D2, V3.D2
	VORR   V1.B16, V0.B16, V0.B16
	VORR   V3.B16, V2.B16, V2.B16
	VORR   V2.B16, V0.B16, V0.B16
	VST1.P [V0.B16], 16(R2)
	ADD    $16, R0
	ADD    $16, R1
	SUBS   $2, R9
	BNE    block

end:
	RET
