-- CreateEnum
CREATE TYPE "InvitationStatus" AS ENUM ('PENDING', 'CLAIMED', 'CANCELLED');

-- CreateTable
CREATE TABLE "invitation" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "code" TEXT NOT NULL,
    "inviter_customer_id" UUID NOT NULL,
    "inviter_uma" TEXT NOT NULL,
    "invitee_uma" TEXT,
    "first_name" TEXT,
    "amount_to_send" BIGINT,
    "currency" TEXT,
    "status" "InvitationStatus" NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "claimed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "invitation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "link_token" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "token" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "account_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "link_token_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "invitation_code_key" ON "invitation"("code");

-- CreateIndex
CREATE INDEX "invitation_world_id_created_at_id_idx" ON "invitation"("world_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "link_token_token_key" ON "link_token"("token");
