// Program bench measures the stores beside what one could have taken instead, all sides in one run,
// and prints tables for storage/BENCH.md. It is a module of its own, so that nothing of the other
// sides gets into the product. Run it with scripts/bench storage, on the disk that is meant:
//
//	go run . -dir /var/tmp            # some minutes, about 6 GB
//	go run . -dir /var/tmp -quick     # a tenth of it
package main
