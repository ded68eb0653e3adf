package play

import (
	"time"

	"github.com/csisim/csisim/internal/load"
)

// look is the real time between two looks at the threads of the driver.
const look = 10 * time.Millisecond

// watchBusy counts the busy threads of the driver until the returned function is called. That
// function returns the average over the moments with a crowd of calls; 0 if there were none.
func (p *player) watchBusy() (end func() float64) {
	programs := p.Programs()
	stop, ended := make(chan struct{}), make(chan float64)
	go func() {
		ticker := time.NewTicker(look)
		defer ticker.Stop()
		looks, threads := 0, 0
		for {
			select {
			case <-stop:
				ended <- float64(threads) / float64(max(1, looks))
				return
			case <-ticker.C:
			}
			if p.UnderWay() < load.Crowd {
				continue
			}
			if busy := busyThreads(programs); busy > 0 && p.UnderWay() >= load.Crowd {
				looks, threads = looks+1, threads+busy
			}
		}
	}()
	return func() float64 {
		close(stop)
		return <-ended
	}
}

func busyThreads(programs []Program) (busy int) {
	for _, p := range programs {
		busy += p.Busy()
	}
	return busy
}
