package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"vmsbridge/uplink/identity/model"
)

// Record writes an entry of the trail in the transaction of the change that it tells of. Seq and
// Time are set here.
func (tx *Tx) Record(e model.AuditEntry) error {
	seq, err := tx.tx.Bucket(bucketTrail).NextSequence()
	if err != nil {
		return fmt.Errorf("record change: %w", err)
	}
	e.Seq, e.Time = seq, tx.now
	return trailKind.put(tx, e)
}

// AuditTrail lists entries of an account, or of all for "", newest first: at most n, and only those
// before the sequence number before unless that is 0.
func (tx *Tx) AuditTrail(account string, before uint64, n int) ([]model.AuditEntry, error) {
	var out []model.AuditEntry
	bucket, prefix := bucketTrail, []byte(nil)
	if account != "" {
		bucket, prefix = bucketTrailIndex, pair(account, nil)
	}
	if before == 0 {
		before = 1<<64 - 1
	}
	end := append(append([]byte(nil), prefix...), binary.BigEndian.AppendUint64(nil, before)...)
	for k := range tx.tx.Bucket(bucket).Backward(prefix, end) {
		if len(out) == n {
			break
		}
		e, err := get[model.AuditEntry](tx, bucketTrail, k[len(prefix):])
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// AuditTrailAfter lists the entries of all accounts after a sequence number, oldest first, at most
// n.
func (tx *Tx) AuditTrailAfter(seq uint64, n int) ([]model.AuditEntry, error) {
	var out []model.AuditEntry
	for _, raw := range tx.tx.Bucket(bucketTrail).Range(binary.BigEndian.AppendUint64(nil, seq+1), nil) {
		if len(out) == n {
			break
		}
		var e model.AuditEntry
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, fmt.Errorf("read trail: %w", err)
		}
		out = append(out, e)
	}
	return out, nil
}

// PruneAuditTrail removes the entries up to and including a sequence number.
func (tx *Tx) PruneAuditTrail(upTo uint64) error {
	trail := tx.tx.Bucket(bucketTrail)
	var over []model.AuditEntry
	for k, raw := range trail.Range(nil, binary.BigEndian.AppendUint64(nil, upTo+1)) {
		var e model.AuditEntry
		_ = json.Unmarshal(raw, &e) // what cannot be read goes all the same
		if e.Seq = 0; len(k) == 8 {
			e.Seq = binary.BigEndian.Uint64(k)
		}
		over = append(over, e)
	}
	for _, e := range over {
		if err := trailKind.remove(tx, e); err != nil {
			return err
		}
	}
	return nil
}
