// Eight cells of 16 bits in a vector.

// The constants that APPLY needs: V30 is the gain eight times, V31 the offset four times.
#define LIGHT(gain, offset) \
	MOVW gain, R10     \
	VDUP R10, V30.H8   \
	MOVW offset, R10   \
	VDUP R10, V31.S4

// V0 = V0 under the exposure. V1, V2 are lost.
#define APPLY \
	UMULL(1, 0, 30)             \
	UMULL2(2, 0, 30)            \
	VUSHR $12, V1.S4, V1.S4     \
	VUSHR $12, V2.S4, V2.S4     \
	VADD  V31.S4, V1.S4, V1.S4  \
	VADD  V31.S4, V2.S4, V2.S4  \
	SQXTUN(0, 1)                \
	SQXTUN2(0, 2)

// Adds the four unsigned lanes of register x, by number, to the 64-bit field of (R11). V0, R12 to R14 are lost.
#define TOTAL(x, field) \
	UADDLPS(0, x)         \
	VMOV V0.D[0], R12     \
	VMOV V0.D[1], R13     \
	MOVD field(R11), R14  \
	ADD  R12, R14         \
	ADD  R13, R14         \
	MOVD R14, field(R11)
