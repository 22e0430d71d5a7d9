//go:build amd64 && !purego

#include "textflag.h"
#include "light_amd64.h"

// Loops that read pixels.

// A picture mostly comes from far away, and rows are too short for the processor to notice by itself what is needed next. With AVX2 the pixels that lie so many
// bytes ahead are fetched, line after line as they lie in the memory, as many at a time as are read: of several rows side by side they would arrive half as fast.
#define FETCHED 8192

// func widenWide(row []byte, out []uint16) (done int)
TEXT ·widenWide(SB), NOSPLIT, $0-56
	MOVQ row_base+0(FP), SI
	MOVQ out_base+24(FP), DI
	MOVQ out_len+32(FP), CX
	ANDQ $~7, CX
	MOVQ CX, done+48(FP)
	JZ   end

loop:
	MOVQ      (SI), X0
	PXOR      X1, X1
	PUNPCKLBW X0, X1
	MOVOU     X1, (DI)
	ADDQ      $8, SI
	ADDQ      $16, DI
	SUBQ      $8, CX
	JNZ       loop

end:
	RET

// Goes on by some bytes of a row of pixels, which are as many of its cells.
#define ON(bytes) \
	ADDQ bytes, SI \
	ADDQ bytes, R8 \
	ADDQ bytes, DI

// Goes back to where the last eight cells of a row begin, of which some are done already, and CX is left.
#define BACK \
	LEAQ -16(SI)(CX*2), SI \
	LEAQ -16(R8)(CX*2), R8 \
	LEAQ -16(DI)(CX*2), DI \
	XORL CX, CX

// func meansTwoWide(luma []byte, stride, width, height int, cells []uint16) (done int)
TEXT ·meansTwoWide(SB), NOSPLIT, $0-80
	MOVQ luma_base+0(FP), SI
	MOVQ stride+24(FP), DX
	MOVQ width+32(FP), R9
	MOVQ height+40(FP), R11
	MOVQ cells_base+48(FP), DI
	MOVQ R11, done+72(FP)
	MOVQ DX, R12
	SUBQ R9, R12
	ADDQ R12, R12              // from the end of a row of cells to the next
	CMPB ·hasAVX2(SB), $1
	JEQ  avx2
	PCMPEQW X7, X7
	PSRLW   $8, X7
	TESTQ   R11, R11
	JZ      end

row:
	LEAQ (SI)(DX*1), R8
	MOVQ R9, CX
	SUBQ $8, CX

loop:
	MOVOU (SI), X0
	MOVOU (R8), X1
	MOVO  X0, X2
	MOVO  X1, X3
	PAND  X7, X0
	PAND  X7, X1
	PSRLW $8, X2
	PSRLW $8, X3
	PADDW X1, X0
	PADDW X3, X2
	PADDW X2, X0
	PSLLW $6, X0
	MOVOU X0, (DI)
	ON($16)
	SUBQ  $8, CX
	JGE   loop
	ADDQ  $8, CX
	JZ    next
	BACK
	JMP   loop

next:
	ADDQ R12, SI
	DECQ R11
	JNZ  row

end:
	RET

avx2:
	VPCMPEQB Y6, Y6, Y6
	VPABSB   Y6, Y6
	TESTQ    R11, R11
	JZ       endy

rowy:
	LEAQ (SI)(DX*1), R8
	LEAQ FETCHED(SI), R10
	MOVQ R9, CX
	SUBQ $32, CX
	JLT  short

loopy:
	PREFETCHT0 (R10)
	PREFETCHT0 64(R10)
	VMOVDQU    (SI), Y0
	VMOVDQU    32(SI), Y1
	VMOVDQU    (R8), Y2
	VMOVDQU    32(R8), Y3
	VPMADDUBSW Y6, Y0, Y0
	VPMADDUBSW Y6, Y1, Y1
	VPMADDUBSW Y6, Y2, Y2
	VPMADDUBSW Y6, Y3, Y3
	VPADDW     Y2, Y0, Y0
	VPADDW     Y3, Y1, Y1
	VPSLLW     $6, Y0, Y0
	VPSLLW     $6, Y1, Y1
	VMOVDQU    Y0, (DI)
	VMOVDQU    Y1, 32(DI)
	ON($64)
	SUBQ       $-128, R10
	SUBQ       $32, CX
	JGE        loopy

short:
	ADDQ $24, CX
	JLT  last

eight:
	VMOVDQU    (SI), X0
	VMOVDQU    (R8), X1
	VPMADDUBSW X6, X0, X0
	VPMADDUBSW X6, X1, X1
	VPADDW     X1, X0, X0
	VPSLLW     $6, X0, X0
	VMOVDQU    X0, (DI)
	ON($16)
	SUBQ       $8, CX
	JGE        eight

last:
	ADDQ $8, CX
	JZ   nexty
	BACK
	JMP  eight

nexty:
	ADDQ R12, SI
	DECQ R11
	JNZ  rowy

endy:
	VZEROUPPER
	RET

// func sumColumnsWide(luma []byte, stride, rows int, sums []uint16) (done int)
TEXT ·sumColumnsWide(SB), NOSPLIT, $0-72
	MOVQ luma_base+0(FP), SI
	MOVQ stride+24(FP), R8
	MOVQ rows+32(FP), R9
	MOVQ sums_base+40(FP), DI
	MOVQ sums_len+48(FP), CX
	ANDQ $~15, CX
	MOVQ CX, done+64(FP)
	JZ   end
	PXOR X7, X7

column:
	PXOR X0, X0
	PXOR X1, X1
	MOVQ SI, R10
	MOVQ R9, R11

row:
	MOVOU     (R10), X2
	MOVO      X2, X3
	PUNPCKLBW X7, X2
	PUNPCKHBW X7, X3
	PADDW     X2, X0
	PADDW     X3, X1
	ADDQ      R8, R10
	DECQ      R11
	JNZ       row
	MOVOU     X0, (DI)
	MOVOU     X1, 16(DI)
	ADDQ      $16, SI
	ADDQ      $32, DI
	SUBQ      $16, CX
	JNZ       column

end:
	RET

// y = the sums of pairs of pixels in eight cells' columns of four rows, the first of them at SI; Y6 is 1 in each byte. t is lost.
#define COLUMNSY(at, y, t) \
	VMOVDQU    at(SI), y         \
	VPMADDUBSW Y6, y, y          \
	VMOVDQU    at(SI)(R8*1), t   \
	VPMADDUBSW Y6, t, t          \
	VPADDW     t, y, y           \
	VMOVDQU    at(SI)(R8*2), t   \
	VPMADDUBSW Y6, t, t          \
	VPADDW     t, y, y           \
	VMOVDQU    at(SI)(R9*1), t   \
	VPMADDUBSW Y6, t, t          \
	VPADDW     t, y, y

// func meansFourWide(luma []byte, stride int, out []uint16) (done int)
TEXT ·meansFourWide(SB), NOSPLIT, $0-64
	CMPB ·hasAVX2(SB), $1
	JEQ  avx2
	MOVQ    luma_base+0(FP), SI
	MOVQ    stride+24(FP), R8
	MOVQ    out_base+32(FP), DI
	MOVQ    out_len+40(FP), CX
	ANDQ    $~3, CX
	MOVQ    CX, done+56(FP)
	JZ      end
	LEAQ    (R8)(R8*2), R9
	LEAQ    (SI)(R8*4), R10    // the next row of cells: it is fetched ahead, as four short rows are too short for the processor to notice
	PCMPEQW X7, X7
	PSRLW   $8, X7
	PCMPEQW X6, X6
	PSRLW   $15, X6
	PCMPEQW X5, X5
	PSLLW   $15, X5
	MOVL    $32768, AX
	MOVL    AX, X4
	PSHUFL  $0, X4, X4

// Adds the sums of neighbours of the pixels in x to X0.
#define PAIRS(x, t) \
	MOVO  x, t  \
	PAND  X7, x \
	PSRLW $8, t \
	PADDW x, X0 \
	PADDW t, X0

loop:
	PREFETCHT0 (R10)
	PREFETCHT0 (R10)(R8*1)
	PREFETCHT0 (R10)(R8*2)
	PREFETCHT0 (R10)(R9*1)
	ADDQ     $16, R10
	PXOR     X0, X0
	MOVOU    (SI), X1
	MOVOU    (SI)(R8*1), X2
	PAIRS(X1, X3)
	PAIRS(X2, X3)
	MOVOU    (SI)(R8*2), X1
	MOVOU    (SI)(R9*1), X2
	PAIRS(X1, X3)
	PAIRS(X2, X3)
	PMADDWL  X6, X0
	PSLLL    $4, X0            // at most 65280: packed as signed, less 32768
	PSUBL    X4, X0
	PACKSSLW X0, X0
	PXOR     X5, X0
	MOVQ     X0, (DI)
	ADDQ     $16, SI
	ADDQ     $8, DI
	SUBQ     $4, CX
	JNZ      loop

end:
	RET

avx2:
	MOVQ     luma_base+0(FP), SI
	MOVQ     stride+24(FP), R8
	MOVQ     out_base+32(FP), DI
	MOVQ     out_len+40(FP), CX
	ANDQ     $~15, CX
	MOVQ     CX, done+56(FP)
	JZ       endy
	LEAQ     (R8)(R8*2), R9
	LEAQ     FETCHED(SI), R10
	VPCMPEQB Y6, Y6, Y6
	VPABSB   Y6, Y6
	VPCMPEQW Y5, Y5, Y5
	VPSRLW   $15, Y5, Y5

loopy:
	PREFETCHT0 (R10)
	PREFETCHT0 64(R10)
	PREFETCHT0 128(R10)
	PREFETCHT0 192(R10)
	COLUMNSY(0, Y0, Y1)
	COLUMNSY(32, Y2, Y3)
	VPMADDWD  Y5, Y0, Y0
	VPMADDWD  Y5, Y2, Y2
	VPACKUSDW Y2, Y0, Y0       // the four cells of each half of the two in turn
	VPERMQ    $0xD8, Y0, Y0
	VPSLLW    $4, Y0, Y0
	VMOVDQU   Y0, (DI)
	ADDQ      $256, R10
	ADDQ      $64, SI
	ADDQ      $32, DI
	SUBQ      $16, CX
	JNZ       loopy

endy:
	VZEROUPPER
	RET
