ridge explain LAUNCH-BOUND; ridge explain dispatch | head -1; ridge explain overlaps | head -1
