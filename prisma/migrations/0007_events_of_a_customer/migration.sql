-- CreateIndex
CREATE INDEX "event_customer_id_position_idx" ON "event"("customer_id", "position") WHERE ((customer_id IS NOT NULL) AND (position IS NOT NULL));
