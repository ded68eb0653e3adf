package data

// replica is the known state of a volume that is replicated between this check's cluster and
// another one.
type replica struct {
	demoted  uint64 // time of its last demotion; 0 while it is primary
	synced   int    // the oldest generation that the copy can have
	reported int    // the generation when the last synchronization was reported
	sync     string // the time of the last synchronization
}

// Demoted notes that a volume was demoted after all writes to it were copied.
func (c *Check) Demoted(v Volume, at uint64) {
	r := c.replicas[v]
	r.demoted, r.synced = at, c.contentOf(v).newest
	c.replicas[v] = r
}

// Reported records the last synchronization that a driver reports for a primary. If it is a new
// one, the content at the previous report has been copied.
func (c *Check) Reported(v Volume, sync string) {
	r := c.replicas[v]
	if sync != "" && sync != r.sync {
		if r.sync != "" {
			r.synced = max(r.synced, r.reported)
		}
		r.sync, r.reported = sync, c.contentOf(v).newest
	}
	c.replicas[v] = r
}

// Promoted records that a copy may be written here. It has the content of the other cluster, at
// least as new as the last known copy. If the volume was last primary here, it keeps its own
// content.
func (c *Check) Promoted(v Volume, other *Check) {
	own, its := c.replicas[v], other.replicas[v]
	content := other.contentOf(v)
	_, written := c.written[v].Find("")
	stays := written && (own.demoted == 0 || its.demoted != 0 && its.demoted < own.demoted)
	own.demoted = 0
	c.replicas[v] = own
	if stays || !content.isKnown() {
		return
	}
	content.oldest, content.mayBeEmpty = max(its.synced, 1), its.synced == 0
	delete(c.written, v)
	c.copies[v] = content
}
