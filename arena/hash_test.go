package arena

import "testing"

// TestMix: keys in unit records are made by Mix, so it must never give anything else.
func TestMix(t *testing.T) {
	if got, want := Mix(Mix(1, uint32(7)), uint64(1)<<40), uint64(0xf2e600a7a498682c); got != want {
		t.Errorf("Mix gives %#x, want %#x", got, want)
	}
	if Spread(1) == Spread(1<<16) || Spread(3)&0xff == Spread(4)&0xff {
		t.Error("Spread gives words that differ one hash")
	}
	if MixSeeded(1, 2, 3) == MixSeeded(1, 2, 4) || MixSeeded(1, 2, 3) == MixSeeded(1, 4, 3) || MixSeeded(1, 2, 3) == MixSeeded(2, 2, 3) {
		t.Error("MixSeeded does not regard a word or the seed")
	}
}
