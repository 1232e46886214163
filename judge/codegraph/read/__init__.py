"""Source text -> facts: what one file says about itself."""
