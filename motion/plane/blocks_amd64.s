//go:build amd64 && !purego

#include "textflag.h"
#include "light_amd64.h"

// Loops over the cells of blocks of eight columns: sixteen cells of a byte in a vector of SSE2, thirty-two in one of AVX2.

// func flagsWide(flags []byte, pitch, rows int, blocks []Block) (done int)
TEXT ·flagsWide(SB), NOSPLIT, $0-72
	MOVQ flags_base+0(FP), SI
	MOVQ pitch+24(FP), R8
	MOVQ rows+32(FP), R9
	MOVQ blocks_base+40(FP), DI
	MOVQ blocks_len+48(FP), CX
	ANDQ $~1, CX
	MOVQ CX, done+64(FP)
	PXOR X7, X7
	SPREADL($0x0101, X6)
	CMPB ·hasAVX2(SB), $1
	JEQ  avx2

rest:
	CMPQ CX, $0
	JMP  test

block:
	PXOR X0, X0                // with the flag Fore
	PXOR X1, X1                // with the flag Moved
	MOVQ SI, R10
	MOVQ R9, R11

row:
	MOVOU (R10), X4
	MOVO  X4, X5
	PSRLW $1, X5
	PAND  X6, X4
	PAND  X6, X5
	PADDB X4, X0
	PADDB X5, X1
	ADDQ  R8, R10
	DECQ  R11
	JNZ   row
	PSADBW X7, X0
	PSADBW X7, X1
	PSLLQ  $16, X1
	POR    X1, X0
	MOVOU  X0, (DI)
	ADDQ   $16, SI
	ADDQ   $16, DI
	SUBQ   $2, CX

test:
	JNZ block
	RET

avx2:
	VPBROADCASTW X6, Y6
	VPXOR        Y7, Y7, Y7
	JMP          testy

blocky:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	MOVQ  SI, R10
	MOVQ  R9, R11

rowy:
	VMOVDQU (R10), Y4
	VPSRLW  $1, Y4, Y5
	VPAND   Y6, Y4, Y4
	VPAND   Y6, Y5, Y5
	VPADDB  Y4, Y0, Y0
	VPADDB  Y5, Y1, Y1
	ADDQ    R8, R10
	DECQ    R11
	JNZ     rowy
	VPSADBW Y7, Y0, Y0
	VPSADBW Y7, Y1, Y1
	VPSLLQ  $16, Y1, Y1
	VPOR    Y1, Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, CX

testy:
	CMPQ CX, $4
	JGE  blocky
	VZEROUPPER
	JMP  rest

// func solidWide(flags, solid []byte, pitch, rows int, blocks []Block) (done int)
TEXT ·solidWide(SB), NOSPLIT, $0-96
	MOVQ flags_base+0(FP), SI
	MOVQ solid_base+24(FP), DX
	MOVQ pitch+48(FP), R8
	MOVQ rows+56(FP), R9
	MOVQ blocks_base+64(FP), DI
	MOVQ blocks_len+72(FP), CX
	ANDQ $~1, CX
	MOVQ CX, done+88(FP)
	PXOR X7, X7
	SPREADL($0x0101, X6)
	CMPB ·hasAVX2(SB), $1
	JEQ  avx2

rest:
	CMPQ CX, $0
	JMP  test

block:
	PXOR X0, X0
	PXOR X1, X1
	PXOR X2, X2                // solid
	PXOR X3, X3                // solid with the flag Moved
	MOVQ SI, R10
	MOVQ DX, R12
	MOVQ R9, R11

row:
	MOVOU (R10), X4
	MOVOU (R12), X8
	MOVO  X4, X5
	PSRLW $1, X5
	PAND  X8, X4
	PAND  X6, X5
	PADDB X4, X0
	PADDB X5, X1
	PADDB X8, X2
	PAND  X8, X5
	PADDB X5, X3
	ADDQ  R8, R10
	ADDQ  R8, R12
	DECQ  R11
	JNZ   row
	PSADBW X7, X0
	PSADBW X7, X1
	PSADBW X7, X2
	PSADBW X7, X3
	PSLLQ  $16, X1
	PSLLQ  $32, X2
	PSLLQ  $48, X3
	POR    X1, X0
	POR    X2, X0
	POR    X3, X0
	MOVOU  X0, (DI)
	ADDQ   $16, SI
	ADDQ   $16, DX
	ADDQ   $16, DI
	SUBQ   $2, CX

test:
	JNZ block
	RET

avx2:
	VPBROADCASTW X6, Y6
	VPXOR        Y7, Y7, Y7
	JMP          testy

blocky:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	MOVQ  SI, R10
	MOVQ  DX, R12
	MOVQ  R9, R11

rowy:
	VMOVDQU (R10), Y4
	VMOVDQU (R12), Y8
	VPSRLW  $1, Y4, Y5
	VPAND   Y8, Y4, Y4
	VPAND   Y6, Y5, Y5
	VPADDB  Y4, Y0, Y0
	VPADDB  Y5, Y1, Y1
	VPADDB  Y8, Y2, Y2
	VPAND   Y8, Y5, Y5
	VPADDB  Y5, Y3, Y3
	ADDQ    R8, R10
	ADDQ    R8, R12
	DECQ    R11
	JNZ     rowy
	VPSADBW Y7, Y0, Y0
	VPSADBW Y7, Y1, Y1
	VPSADBW Y7, Y2, Y2
	VPSADBW Y7, Y3, Y3
	VPSLLQ  $16, Y1, Y1
	VPSLLQ  $32, Y2, Y2
	VPSLLQ  $48, Y3, Y3
	VPOR    Y1, Y0, Y0
	VPOR    Y2, Y0, Y0
	VPOR    Y3, Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DX
	ADDQ    $32, DI
	SUBQ    $4, CX

testy:
	CMPQ CX, $4
	JGE  blocky
	VZEROUPPER
	JMP  rest
