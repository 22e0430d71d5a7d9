// Eight cells of 16 bits in a vector of SSE2, which every amd64 has; sixteen where the processor has AVX2 and it saves enough. SSE2 has no unsigned minimum and maximum of 16 bits, but a subtraction that stops at 0:
// max(a, b) = a + (b-a), min(a, b) = a - (a-b), |a-b| = (a-b) | (b-a).

// The constants that APPLY needs: X15 is the gain eight times, X14 the offset - 32768 four times, X13 0x8000 eight times.
#define LIGHT(gain, offset) \
	MOVL    gain, AX      \
	MOVL    AX, X15       \
	PSHUFLW $0, X15, X15  \
	PSHUFL  $0, X15, X15  \
	MOVL    offset, AX    \
	SUBL    $32768, AX    \
	MOVL    AX, X14       \
	PSHUFL  $0, X14, X14  \
	PCMPEQW X13, X13      \
	PSLLW   $15, X13

// X0 = X0 under the exposure: a product of 32 bits, from which 32768 less is packed with signed saturation, and given back. X1, X2 are lost.
#define APPLY \
	MOVO      X0, X1  \
	PMULLW    X15, X0 \
	PMULHUW   X15, X1 \
	MOVO      X0, X2  \
	PUNPCKLWL X1, X0  \
	PUNPCKHWL X1, X2  \
	PSRLL     $12, X0 \
	PSRLL     $12, X2 \
	PADDL     X14, X0 \
	PADDL     X14, X2 \
	PACKSSLW  X2, X0  \
	PXOR      X13, X0

// a = |a-b|; t is lost.
#define DISTANCE(a, b, t) \
	MOVO    b, t \
	PSUBUSW a, t \
	PSUBUSW b, a \
	POR     t, a

// x = the low 16 bits of v eight times; AX is lost.
#define SPREADL(v, x) \
	MOVL    v, AX    \
	MOVL    AX, x    \
	PSHUFLW $0, x, x \
	PSHUFL  $0, x, x

// The same for AVX2: Y15 is the gain, Y14 the offset.
#define LIGHTY(gain, offset) \
	MOVL         gain, AX    \
	MOVL         AX, X15     \
	VPBROADCASTW X15, Y15    \
	MOVL         offset, AX  \
	MOVL         AX, X14     \
	VPBROADCASTD X14, Y14

// Y0 = Y0 under the exposure. Y1, Y2 are lost.
#define APPLYY \
	VPMULLW    Y15, Y0, Y1 \
	VPMULHUW   Y15, Y0, Y2 \
	VPUNPCKLWD Y2, Y1, Y0  \
	VPUNPCKHWD Y2, Y1, Y1  \
	VPSRLD     $12, Y0, Y0 \
	VPSRLD     $12, Y1, Y1 \
	VPADDD     Y14, Y0, Y0 \
	VPADDD     Y14, Y1, Y1 \
	VPACKUSDW  Y1, Y0, Y0

// a = |a-b|; t is lost.
#define DISTANCEY(a, b, t) \
	VPSUBUSW b, a, t \
	VPSUBUSW a, b, a \
	VPOR     t, a, a

// y = the low 16 bits of v sixteen times; x is its lower half, AX is lost.
#define SPREADYL(v, x, y) \
	MOVL         v, AX \
	MOVL         AX, x \
	VPBROADCASTW x, y

// Adds the four unsigned 32-bit lanes of x to the 64-bit field of (DI). X0, X1 and AX are lost.
#define TOTAL(x, field) \
	PXOR      X0, X0      \
	MOVO      x, X1       \
	PUNPCKLLQ X0, x       \
	PUNPCKHLQ X0, X1      \
	PADDQ     X1, x       \
	PSHUFL    $0xEE, x, X1 \
	PADDQ     X1, x       \
	MOVQ      x, AX       \
	ADDQ      AX, field(DI)
