"""From range subscriptions to channels: disjoint parts of the content space, merged until few are left."""
