package encode

import "time"

// clock times the phases of a run.
type clock struct {
	last   time.Time
	phases []Phase
}

func (c *clock) start() { c.last = time.Now() }

// lap adds the time since the last call of lap, or of start, to the phase with this name.
func (c *clock) lap(name string) {
	now := time.Now()
	d := now.Sub(c.last)
	c.last = now
	for i := range c.phases {
		if c.phases[i].Name == name {
			c.phases[i].Time += d
			return
		}
	}
	c.phases = append(c.phases, Phase{name, d})
}
